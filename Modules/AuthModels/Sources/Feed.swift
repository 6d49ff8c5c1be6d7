#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One post of the feed (chirp dialect).
public struct Post: Sendable, Hashable, Codable, Identifiable {
  /// The server's name for the post.
  public var id: String
  /// The username of whoever wrote it.
  public var author: String
  /// What was written.
  public var text: String
  /// When it was written.
  public var createdAt: Date

  /// Makes a post from its parts.
  public init(id: String, author: String, text: String, createdAt: Date) {
    self.id = id
    self.author = author
    self.text = text
    self.createdAt = createdAt
  }
}

/// A page of the feed: the answer to `GET /feed`.
public struct FeedPage: Sendable, Hashable, Codable {
  /// The posts, the newest first.
  public var items: [Post]
  /// Where the next page begins; nil on the last one.
  public var nextCursor: String?

  /// Makes a page from its parts.
  public init(items: [Post], nextCursor: String?) {
    self.items = items
    self.nextCursor = nextCursor
  }
}
