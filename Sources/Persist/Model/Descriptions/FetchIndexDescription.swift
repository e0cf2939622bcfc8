/// An index over properties or expressions of an entity.
public struct FetchIndexDescription: Sendable, Hashable {
  /// An element of an index.
  public struct Element: Sendable, Hashable {
    /// The property or expression that is indexed.
    public enum Subject: Sendable, Hashable {
      /// The attribute or to-one relationship with this name; a composite attribute is indexed by all its elements.
      case property(String)
      /// An expression in the format language, with the type of its result. Stores leave it out of their indexes.
      case expression(String, AttributeType)
    }

    /// The kind of index.
    public enum Kind: String, Sendable, Hashable {
      /// An ordinary index, SQLite's B-tree.
      case binary
      /// Core Data's R*Tree, for range queries on numbers; stores create an ordinary index instead.
      case rTree
    }

    /// The indexed property or expression.
    public var subject: Subject
    /// The kind of index in the model; see ``Kind``.
    public var kind: Kind
    /// Whether smaller values come first; relevant for indexes over several elements.
    public var isAscending: Bool

    /// Creates an element of an index, by default an ascending binary one.
    public init(_ subject: Subject, kind: Kind = .binary, isAscending: Bool = true) {
      self.subject = subject
      self.kind = kind
      self.isAscending = isAscending
    }
  }

  /// The index's name, unique in its entity; part of the name of the index in the store.
  public var name: String
  /// The elements, the most significant first.
  public var elements: [Element]
  /// The format string of a predicate that restricts Core Data's index to some rows; Persist's contains all rows.
  public var partialPredicate: String?
  /// The index's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates an index from its elements.
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
