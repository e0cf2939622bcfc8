public import Persist

/// A read-only query in SQL over the entities and properties of a model.
///
/// ```swift
/// let books = try context.rows(sql: """
///   SELECT author, COUNT(*) AS books, MAX(published) AS latest
///   FROM \(Book.self) WHERE price < \(20) GROUP BY author
///   """)
/// for row in books { print(try row["books", as: Int.self], try row["latest", as: Date?.self]) }
/// ```
///
/// | interpolated | in the query |
/// |---|---|
/// | a class, `\(Book.self)`, or an entity, `\(entity: "Book")` | a table of its objects and those of its subentities |
/// | a to-many relationship, `\(members: "tags", of: Book.self)` | a table of its pairs |
/// | a value | a bound parameter |
/// | a name, `\(name: "order")` | the quoted name, for a property that is named like a keyword |
///
/// Pairs have the columns `owner` and `member`, and `position` if the relationship is ordered. The columns of an object
/// are the attributes, under their names; the elements of composites, as `"place.city"`; the to-one relationships, with
/// the key of the related object; and `pk`, the object's own key (`_pk` if a property is named so). Values that may be
/// stored in files aren't columns.
///
/// The text comes from the source code alone: a `String` doesn't fit into it, so that nothing can be injected. It is
/// one `SELECT`, which may begin with `WITH` or `WITH RECURSIVE`, and can't write.
///
/// The dialect is the store's. In a file, dates are seconds since 2001-01-01 00:00 UTC, Booleans 0 and 1, and UUIDs
/// bytes; interpolated values have the same form.
public struct SQLRequest: Sendable, ExpressibleByStringInterpolation {
  /// The parts of a request in a string literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    /// Creates an empty text.
    public init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

    /// SQL from the source code.
    public mutating func appendLiteral(_ literal: StaticString) { parts.append(.sql(.text(literal))) }

    /// The objects of a class and its subclasses, as a table.
    public mutating func appendInterpolation<Object: ManagedObject>(_ type: Object.Type) {
      parts.append(.entity(.type(ObjectType(type))))
    }

    /// The objects of an entity and its subentities, as a table.
    public mutating func appendInterpolation(entity name: String) { parts.append(.entity(.name(name))) }

    /// The pairs of a to-many relationship, as a table with the columns `owner` and `member`, and `position` if it is
    /// ordered.
    public mutating func appendInterpolation<Object: ManagedObject>(
      members relationship: String, of type: Object.Type
    ) {
      parts.append(.members(relationship, .type(ObjectType(type))))
    }

    /// The pairs of an entity's to-many relationship.
    public mutating func appendInterpolation(members relationship: String, of entity: String) {
      parts.append(.members(relationship, .name(entity)))
    }

    /// A quoted name.
    public mutating func appendInterpolation(name: String) { parts.append(.sql(.name(name))) }

    /// The key of an object, which is bound; `NULL` for nil, and for an object that was never saved.
    public mutating func appendInterpolation(_ id: ManagedObjectID?) {
      parts.append(.sql(.value(id.map(StoredValue.objectID) ?? .null)))
    }

    /// A value, which is bound; nil is `NULL`.
    public mutating func appendInterpolation(_ value: some SQLRepresentable) {
      parts.append(.sql(.value(value.storedValue)))
    }
  }

  fileprivate enum EntityReference: Sendable {
    case type(ObjectType)
    case name(String)
  }

  fileprivate enum Part: Sendable {
    case sql(WrittenSQL.Part)
    case entity(EntityReference)
    case members(String, EntityReference)
  }

  /// A class of managed objects.
  // Sendable: metatypes are immutable.
  fileprivate struct ObjectType: @unchecked Sendable {
    let type: ManagedObject.Type
    init(_ type: ManagedObject.Type) { self.type = type }
  }

  private let parts: [Part]

  /// A request without interpolations.
  public init(stringLiteral literal: StaticString) { parts = [.sql(.text(literal))] }

  /// A request from an interpolated literal.
  public init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

  /// Looks up the entities and relationships.
  ///
  /// - Throws: `PersistenceError.Code.unknownEntity`, `unknownProperty`, and `invalidRequest` for other properties than
  ///   to-many relationships.
  func resolved(in context: ManagedObjectContext) throws -> WrittenSQL {
    func entity(_ reference: EntityReference) throws -> Entity {
      switch reference {
      case .name(let name): try context.entity(named: name)
      case .type(let reference): context.findEntity(servedBy: reference.type)
      }
    }
    return WrittenSQL(
      try parts.map { part in
        switch part {
        case .sql(let part): return part
        case .entity(let reference): return .entity(try entity(reference))
        case .members(let name, let reference):
          let owner = try entity(reference)
          guard let property = owner.property(named: name) else {
            throw PersistenceError(
              .unknownProperty, at: .property(owner.name, name), "'\(owner.name)' has no property '\(name)'.",
              fix: "Its properties are \(owner.properties.map(\.name).sorted().joined(separator: ", ")).")
          }
          guard property.relationship?.isToMany == true else {
            throw PersistenceError(
              .invalidRequest, at: .property(owner.name, name), "'\(name)' isn't a to-many relationship.",
              fix: "Attributes and to-one relationships are columns of the entity's own table.")
          }
          return .members(property, of: owner)
        }
      })
  }
}
