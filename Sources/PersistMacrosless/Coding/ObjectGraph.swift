import Foundation
public import Persist

/// Objects with what hangs on them, to be encoded, or decoded as new objects of a context.
///
/// ```swift
/// let data = try JSONEncoder().encode(ObjectGraph([author], following: ["books", "books.chapters"]))
///
/// let graph = try JSONDecoder().decode(ObjectGraph.self, from: data, configuration: context)
/// let copies = graph.objects(of: Author.self)
/// ```
///
/// Encoded are the stored attributes, derived ones not included, and the relationships that were chosen. Every object
/// stands once, under a number, and wherever it is met again, in a cycle too, the number stands for it. Dates and data
/// take the form that the encoder is set to.
///
/// Decoding makes an object for each encoded one. Attributes that aren't there have their defaults; entities and
/// properties that the context's model doesn't have are an error, and leave nothing behind in the context.
public struct ObjectGraph {
  /// The objects that the graph begins with.
  public let objects: [ManagedObject]
  /// The paths of relationships that are followed, such as `books` and `books.chapters`.
  public let paths: [String]

  public init(_ objects: [ManagedObject], following paths: [String] = []) {
    self.objects = objects
    self.paths = paths
  }

  /// Those of the objects that are of a class.
  public func objects<Object: ManagedObject>(of type: Object.Type) -> [Object] { objects.compactMap { $0 as? Object } }
}

/// A key that is made while coding: an attribute's or a relationship's name, or one of the form's own words.
struct GraphKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }

  static let roots = GraphKey("roots")
  static let objects = GraphKey("objects")
  static let number = GraphKey("number")
  static let entity = GraphKey("entity")
  static let attributes = GraphKey("attributes")
  static let relationships = GraphKey("relationships")
}
