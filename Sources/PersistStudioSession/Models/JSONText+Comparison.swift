import Foundation
import Persist
import PersistInspection
import PersistTools

extension JSONText {
  private static let shownMembers = 12

  /// The comparison of a store with a migrated copy: the numbers of values, and the properties with differences.
  mutating func value(_ outcome: MigratedComparison.Outcome) {
    object { json in
      json.field("objects", outcome.objects)
      json.field("values", outcome.values)
      json.field("properties", outcome.properties.count)
      json.field("isSame", outcome.isSame)
      json.field("isComputed", outcome.isComputed)
      json.field("missing", of: outcome.missing) { json, missing in
        json.object {
          $0.field("entity", missing.entity)
          $0.field("count", missing.count)
        }
      }
      json.field("differences", of: outcome.properties.filter { $0.different > 0 }) { json, result in
        json.object { json in
          json.field("entity", result.entity)
          json.field("property", result.property)
          json.field("newEntity", result.newEntity)
          json.field("newProperty", result.newProperty)
          json.field("equal", result.equal)
          json.field("different", result.different)
          json.field("examples", of: result.examples) { json, example in
            json.object {
              $0.field("key", String(example.key))
              $0.field("before", Self.text(example.before))
              $0.field("after", Self.text(example.after))
            }
          }
        }
      }
    }
  }

  /// A short text of a value; nil for null.
  private static func text(_ value: MigratedValue) -> String? {
    switch value {
    case .content(.missingFile(let name)): return "the missing file \(name)"
    case .content(.value(let value)): return value.isNull ? nil : value.description
    case .members(let members):
      guard !members.isEmpty else { return nil }
      let shown = members.prefix(shownMembers).map { "\($0.entity) \($0.key)" }
      let rest = members.count - shown.count
      return shown.joined(separator: ", ") + (rest > 0 ? ", … \(rest) more" : "")
    }
  }
}
