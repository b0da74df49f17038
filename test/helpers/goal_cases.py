"""Goal handles of actions as servers see them, for tests without a server."""


class GoalEnd:
    """How a goal handle was ended; '' while it goes on."""

    end = ''

    def succeed(self):
        self.end = 'succeeded'

    def abort(self):
        self.end = 'aborted'

    def canceled(self):
        self.end = 'canceled'
