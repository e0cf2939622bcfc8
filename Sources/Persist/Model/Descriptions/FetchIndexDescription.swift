/// An index over properties or expressions of an entity.
public struct FetchIndexDescription: Sendable, Hashable {
  /// One part of an index.
  public struct Element: Sendable, Hashable {
    /// What is indexed.
    public enum Subject: Sendable, Hashable {
      case property(String)
      /// An expression in the format language, with the type of its result.
      case expression(String, AttributeType)
    }

    /// How the values are indexed.
    public enum Kind: String, Sendable, Hashable {
      case binary
      /// SQLite's R*Tree, for ranges over numbers.
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
  /// A predicate's format string that limits the index to some rows.
  public var partialPredicate: String?
  /// What a model file says of the index that no property here stands for, kept as it was.
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
