"""What surrounds a lesson: its folder, the questions to a person, pictures, checks and views. No lesson is imported here."""
from agent_steps.classroom.asking import ask, ask_approval, rehearse
from agent_steps.classroom.checks import check
from agent_steps.classroom.demos import shows_error
from agent_steps.classroom.diagram import loop_diagram
from agent_steps.classroom.glossary import new_words
from agent_steps.classroom.panel import in_panel
from agent_steps.classroom.starting import start_lesson
from agent_steps.classroom.turn_view import show_turn
from agent_steps.classroom.whats_new import new_names, show_module, stage_diff

__all__ = [
    "ask", "ask_approval", "check", "in_panel", "loop_diagram", "new_names", "new_words", "rehearse", "show_module", "show_turn",
    "shows_error", "stage_diff", "start_lesson",
]
