"""Why a hypothesis was not taken: one short sentence each, counted in the answer."""

OPEN_HAND_COLLIDES = 'open hand or its approach collides with the object'
SURROUNDINGS_COLLIDE = 'hand collides with its surroundings'
SELF_COLLISION = 'hand collides with itself'
TOO_FEW_FINGERS = 'fewer than two fingers reach the object'
CANNOT_BALANCE = 'no forces within friction, pressure and torque limits hold the task'
THROUGH = 'fingers press through the object'
PRESSURE = 'holding it takes more pressure than object or pads stand'
NOT_HELD = 'does not hold within the joints\' range'
NOT_SETTLED = 'closing did not settle within the allowed steps'
EVALUATION_FAILED = 'a stage could not evaluate it'
NOT_EVALUATED = 'not evaluated within the budget'
