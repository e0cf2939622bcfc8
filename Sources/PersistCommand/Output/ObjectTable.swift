import Foundation
import Persist
import PersistTools
import PersistInspection

/// The objects of an entity as lines of comma-separated values that can be read back to the same objects.
///
/// The columns are the keys, `pk` or `_pk` if a property is named so, the attributes and the relationships. Null is a
/// cell without anything in it, an empty text is a pair of quotation marks; related objects are named as `Author/3` and
/// separated by spaces.
struct ObjectTable {
  private let properties: DumpedProperties

  init(_ properties: DumpedProperties) { self.properties = properties }

  var header: String {
    CSVText.line([properties.keyColumn] + (properties.attributes + properties.relationships).map(\.name))
  }

  func line(_ object: StoreContents.Object) throws -> String {
    var cells: [String?] = [String(object.key)]
    for property in properties.attributes {
      if property.attribute?.type == .decimal {
        cells.append(object.decimalText(of: property))
        continue
      }
      switch try object.value(of: property) {
      case .value(let value): cells.append(CSVText.text(value))
      case .missingFile(let name):
        throw PersistenceError(
          .fileAccess,
          at: PersistenceError.Place(entity: object.entity.name, property: property.name, row: object.key),
          "The file '\(name)' of the value is missing.",
          fix: "Export JSON lines, which can represent a missing file, or restore the file.")
      }
    }
    for property in properties.relationships {
      let others =
        property.isToMany ? try object.members(of: property) : [object.target(of: property)].compactMap { $0 }
      cells.append(
        others.isEmpty
          ? nil : others.map { "\($0.entityName)/\($0.primaryKey ?? 0)" }.joined(separator: " "))
    }
    return CSVText.line(cells)
  }
}
