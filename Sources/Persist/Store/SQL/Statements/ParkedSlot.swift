import Foundation

/// A property, or the objects of an entity, whose values a migration parked in the store.
///
/// | table | contains |
/// |---|---|
/// | `PERSIST_PARKED` | a row for each slot: what it is, and the model in which it has a place |
/// | `PERSIST_PARKED_MODELS` | these models, as text |
/// | `PERSIST_PARKED_VALUES` | values of attributes by object; for objects their versions |
/// | `PERSIST_PARKED_PAIRS` | pairs of relationships with their positions |
/// | `PERSIST_PARKED_STATES` | the age of each slot, and the column in which its values remained |
///
/// Objects are identified by their keys, which a migration in place never changes and which are never assigned again.
package struct ParkedSlot: Sendable, Equatable {
  package enum Kind: String, Sendable, Hashable {
    case object, attribute, relationship
  }

  /// The tables, in the order in which they are created.
  package enum Table {
    package static let slots = "PERSIST_PARKED"
    static let models = "PERSIST_PARKED_MODELS"
    package static let values = "PERSIST_PARKED_VALUES"
    package static let pairs = "PERSIST_PARKED_PAIRS"
    package static let states = "PERSIST_PARKED_STATES"
    package static let all = [slots, models, values, pairs, states]
  }

  /// The name of the trigger that deletes the parked values of objects that are deleted from a table.
  package static func trigger(of table: String) -> String { "PERSIST_PARKED_\(table)" }

  package static func isTrigger(_ name: String) -> Bool { name.foldedIdentifier.hasPrefix("persist_parked_") }

  package var number: Int
  package let kind: Kind
  /// The exact entity of the objects; for a relationship the one that declares it.
  package let entity: String
  /// The name of the property; empty for objects.
  package let property: String
  /// The names from a composite attribute to the element, separated by dots; empty for a whole attribute.
  package let elements: String
  /// The digest of the text of the model in which the slot has a place, in hexadecimal.
  package let model: String
  /// The name of that model's version.
  package let version: String
  /// The column in which the values remained, except missing ones; nil if all are in `PERSIST_PARKED_VALUES`.
  package var column: ParkedColumn?

  package init(
    number: Int, kind: Kind, entity: String, property: String, elements: String, model: String, version: String,
    column: ParkedColumn? = nil
  ) {
    self.number = number
    self.kind = kind
    self.entity = entity
    self.property = property
    self.elements = elements
    self.model = model
    self.version = version
    self.column = column
  }
}
