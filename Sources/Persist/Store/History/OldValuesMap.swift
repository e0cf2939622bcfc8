import Foundation

/// The meaning of the old values that a history keeps.
package final class OldValuesMap: Sendable {
  /// The meaning of a column for the rows of one entity.
  enum Part: Sendable {
    case attribute(AttributeDescription)
    /// An element of a composite attribute, by its path of names.
    case element([String], AttributeDescription)
    case key
    case entityNumber
  }

  /// The parts of a property's value, by column.
  struct Field: Sendable {
    let property: Property
    let parts: [(column: String, part: Part)]
  }

  /// A relationship whose members are kept: the names at both ends.
  struct Members: Sendable {
    let owner: Entity
    let name: String
    let member: Entity
    /// Nil for a relationship without an inverse.
    let inverse: String?
  }

  /// The number of the last transaction before old values were kept.
  let after: Int64
  let layout: Lazy<OldValuesLayout>
  /// By index in ``ManagedObjectModel/entities``.
  let fields: Lazy<[[Field]]>
  /// By the relationship's name in ``OldValuesLayout/Relationship``, from either end.
  let members: Lazy<[String: Members]>
  /// The entity numbers and columns of values that may be stored in files.
  let fileColumns: Lazy<[Int: Set<String>]>

  init(after: Int64, in map: TableMap, _ expansion: HistoryExpansion? = nil) {
    self.after = after
    layout = Lazy { OldValuesLayout(map) }
    fields = Lazy {
      map.model.entities.map { entity in
        Self.fields(of: entity, in: map[entity], expansion?.keptColumns(ofEntity: map.numbers[entity]) ?? Dictionary())
      }
    }
    members = Lazy {
      let kept = expansion?.keptRelationships ?? Dictionary()
      var members: [String: Members] = Dictionary()
      for entity in map.model.entities {
        for property in entity.ownProperties {
          guard let relationship = property.relationship, relationship.isToMany else { continue }
          let name = "\(entity.name).\(property.name)"
          members[kept[name] ?? name] = Members(
            owner: entity, name: property.name, member: map.model.destination(of: relationship),
            inverse: relationship.inverse)
        }
      }
      return members
    }
    fileColumns = Lazy {
      var columns: [Int: Set<String>] = Dictionary()
      for table in map.tables {
        for case (let name, .attribute(let attribute)) in table.columns.map({ ($0.name, $0.role) })
        where SlotForm(attribute) == .externalData {
          columns[table.number, default: []].insert(name)
        }
      }
      return columns
    }
  }

  /// - Parameter kept: The columns under which values are kept, if they have other names.
  private static func fields(
    of entity: Entity, in table: TableMap.EntityTable, _ kept: [String: String]
  ) -> [Field] {
    let columns = Dictionary(grouping: table.columns, by: \.property)
    return entity.properties.compactMap { property in
      guard let columns = columns[property.name], property.attribute?.isDerived != true else { return nil }
      return Field(
        property: property,
        parts: columns.map { column in
          let name = kept[column.name] ?? column.name
          switch column.role {
          case .toOne: return (name, .key)
          case .toOneEntity: return (name, .entityNumber)
          case .attribute(let attribute):
            let element = property.elements.first { $0.slot == column.slot }
            return (
              name, element.map { .element(Array($0.path.dropFirst()), attribute) } ?? .attribute(attribute)
            )
          }
        })
    }
  }
}
