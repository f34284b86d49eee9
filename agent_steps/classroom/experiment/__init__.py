"""What surrounds an experiment: who does which run when, the file of results, the progress bar, pictures, grading. No lesson is imported here."""
