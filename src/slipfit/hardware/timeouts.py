"""How long the host waits, in seconds. The reason of each is in docs/reference/roboteq.md, "Timeouts of the host".

The one limit that ends a drive is the controller's own watchdog, `roboteq.WATCHDOG_S`.
"""

#: An answer that takes longer is late: it is reported, and its line is sent again in case the line was lost.
ANSWER_S = 0.1

#: A line is sent so many times at most, ANSWER_S apart. After that the host only listens: every character that arrives would
#: put off the watchdog of a controller that no longer answers.
SENDS = 3

#: One look at an idle port lasts this long: how soon Ctrl-C and the stop file are noticed while an answer is late.
READ_S = 0.02

#: After waking a controller up, what it sends is skipped until it is silent for QUIET_S, or for SETTLE_S in all.
QUIET_S, SETTLE_S = 0.05, 0.5

#: Pause between two looks while a controller wakes up.
WAKE_POLL_S = 0.005

#: After the stop the counters are read for this long, so that the log holds the robot coming to rest.
ROLL_OUT_S = 0.3
