/// Finds the name that somebody most likely meant.
///
/// - Returns: the candidate with the fewest typing errors (insert, delete, replace, swap of neighbours), if they are few
///   enough for the length of the word (one for up to four letters, else a third of them); the first of equals.
public func nearestName(to word: String, among candidates: some Sequence<String>) -> String? {
  let letters = Array(word.lowercased().prefix(64))
  let limit = letters.count <= 4 ? 1 : letters.count / 3
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(letters, Array(candidate.lowercased().prefix(64)))
    if distance <= limit, distance < best?.distance ?? .max {
      best = (candidate, distance)
    }
  }
  return best?.name
}

/// The optimal string alignment distance: each letter takes part in one edit at most.
private func editDistance(_ left: [Character], _ right: [Character]) -> Int {
  guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
  var beforeLast = [Int](repeating: 0, count: right.count + 1)
  var last = Array(0...right.count)
  for row in 1...left.count {
    var current = [row] + [Int](repeating: 0, count: right.count)
    for column in 1...right.count {
      let replaced = last[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
      current[column] = min(replaced, last[column] + 1, current[column - 1] + 1)
      if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
        current[column] = min(current[column], beforeLast[column - 2] + 1)
      }
    }
    (beforeLast, last) = (last, current)
  }
  return last[right.count]
}
