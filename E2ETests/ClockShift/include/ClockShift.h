// Nothing to call: the library is loaded into a program with LD_PRELOAD. SwiftPM wants a header.
