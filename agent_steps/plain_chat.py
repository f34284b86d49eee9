"""Lesson 1: a chat is a list that is sent whole, every time."""


class Chat:
    """A conversation with a model.

    model: anything with ``reply(system_prompt, messages) -> str``; ``connect()`` gives one.
    system_prompt: the text that stands before every conversation.
    messages: everything said so far, a plain list of dicts with "role" and "content".
    """

    def __init__(self, model, system_prompt=""):
        self.model = model
        self.system_prompt = system_prompt
        self.messages = []

    def send(self, text):
        """Send one more message, together with all that was said before; return the text of the reply.

        If the request fails or is interrupted, the error passes through and `messages` is as it was.
        """
        length = len(self.messages)
        try:
            self.messages.append({"role": "user", "content": text})
            reply = self.model.reply(self.system_prompt, self.messages)
            # An empty message would be refused for ever after, so an empty reply is kept under another text.
            self.messages.append({"role": "assistant", "content": reply if reply.strip() else "(empty reply)"})
        except BaseException:   # Ctrl-C is no Exception
            del self.messages[length:]
            raise
        return reply

    def __repr__(self):
        turns = [f"{message['role']}: {message['content']}" for message in self.messages]
        return "\n".join([f"system: {self.system_prompt}", *turns])
