import Groundwork
import VirtualTime

let clock = VirtualClock()
print(clock.sinceBoot)
