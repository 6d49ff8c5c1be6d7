import AuthStorage
import Groundwork

let store = InMemorySessionStore(time: SystemClock())
print(try await store.read(SessionSlot(server: "https://auth.example.com")).record == nil)
