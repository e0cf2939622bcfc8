import Foundation

/// A mark, read with one statement, that shows whether the model or the layout of a store may have changed.
package struct StoreMark: Sendable, Hashable {
  /// The engine's number of the schema: another one once the schema has changed.
  let schemaVersion: Int64
  /// The identifier in the metadata's own column.
  let identifier: String
  /// The metadata as a property list, which identify the model.
  let propertyList: Data
}
