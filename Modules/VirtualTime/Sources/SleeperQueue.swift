/// A binary heap of sleepers: earliest deadline first, and among equals whoever went to sleep first.
package struct SleeperQueue: Sendable {
  /// One who sleeps; ids grow in the order of going to sleep.
  package struct Sleeper: Sendable {
    package var deadline: Duration
    package var id: UInt64

    func isBefore(_ other: Sleeper) -> Bool {
      deadline != other.deadline ? deadline < other.deadline : id < other.id
    }
  }

  private var heap: [Sleeper] = []

  /// Makes an empty queue.
  package init() {}

  /// Who wakes next.
  package var first: Sleeper? { heap.first }

  /// Adds a sleeper.
  package mutating func insert(_ id: UInt64, deadline: Duration) {
    heap.append(Sleeper(deadline: deadline, id: id))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Removes who wakes next, if there is anyone.
  package mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
