import Groundwork

print(SystemClock().sinceBoot > .zero ? "ready" : "no clock")
