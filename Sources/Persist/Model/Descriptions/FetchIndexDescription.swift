/// An index over properties or expressions of an entity.
public struct FetchIndexDescription: Sendable, Hashable {
  /// An element of an index.
  public struct Element: Sendable, Hashable {
    /// The property or expression that is indexed.
    public enum Subject: Sendable, Hashable {
      case property(String)
      /// An expression in the format language, with the type of its result.
      case expression(String, AttributeType)
    }

    /// The kind of index.
    public enum Kind: String, Sendable, Hashable {
      case binary
      /// SQLite's R*Tree, for range queries on numbers.
      case rTree
    }

    public var subject: Subject
    public var kind: Kind
    public var isAscending: Bool

    public init(_ subject: Subject, kind: Kind = .binary, isAscending: Bool = true) {
      self.subject = subject
      self.kind = kind
      self.isAscending = isAscending
    }
  }

  public var name: String
  public var elements: [Element]
  /// The format string of a predicate that restricts the index to some rows.
  public var partialPredicate: String?
  /// The index's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  public init(
    _ name: String, elements: [Element], partialPredicate: String? = nil, unknown: [String: String] = [:]
  ) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
    self.unknown = unknown
  }

  /// An ascending index over properties.
  public init(_ name: String, on properties: String...) {
    self.init(name, elements: properties.map { Element(.property($0)) })
  }
}
