import Foundation
public import Persist

/// Objects and their related objects, for encoding, or for decoding as new objects of a context.
///
/// ```swift
/// let data = try JSONEncoder().encode(ObjectGraph([author], following: ["books", "books.chapters"]))
///
/// let graph = try JSONDecoder().decode(ObjectGraph.self, from: data, configuration: context)
/// let copies = graph.objects(of: Author.self)
/// ```
///
/// The stored attributes, except derived ones, and the chosen relationships are encoded. Every object is encoded once,
/// with a number; further references to it, even in cycles, use the number. Dates and data have the format for which
/// the encoder is configured. An attribute without a value is left out, or encoded as null if new objects have one.
///
/// Decoding creates an object for each encoded one. Missing attributes have their defaults; entities and properties
/// unknown to the context's model are an error, which leaves no objects behind in the context.
public struct ObjectGraph {
  /// The objects from which the graph starts.
  public let objects: [ManagedObject]
  /// The relationship paths to follow, such as `books` and `books.chapters`.
  public let paths: [String]

  /// Creates a graph that starts from some objects. Nothing is read until it is encoded.
  ///
  /// - Parameters:
  ///   - objects: the objects at which the graph starts.
  ///   - paths: the relationship paths to follow, dot-separated. Each includes its prefixes: `books.chapters` also
  ///     follows `books`. By default only the objects themselves are encoded.
  public init(_ objects: [ManagedObject], following paths: [String] = []) {
    self.objects = objects
    self.paths = paths
  }

  /// The objects of a given class.
  public func objects<Object: ManagedObject>(of type: Object.Type) -> [Object] { objects.compactMap { $0 as? Object } }
}

/// A coding key with an arbitrary name: that of an attribute, a relationship, or a field of the format.
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
