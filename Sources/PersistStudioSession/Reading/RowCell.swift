import Persist
import PersistInspection

/// A value in the grid.
enum RowCell {
  case null
  case text(String)
  case longText(length: Int)
  case bytes(Int?)
  case object(ManagedObjectID, name: String?)

  private static let longest = 300

  init(_ value: LeafReader.Value) {
    switch value {
    case .value(let value):
      guard let text = ValueText.text(value) else {
        self = .null
        return
      }
      self = .text(text.count > Self.longest ? text.prefix(Self.longest) + "…" : text)
    case .longText(let length): self = .longText(length: length)
    case .bytes(let count): self = .bytes(count)
    }
  }

  /// A composite as one text.
  init(_ leaves: [(leaf: RowColumn.Leaf, value: LeafReader.Value)]) {
    let parts = leaves.compactMap { leaf, value -> String? in
      let name = leaf.path.dropFirst().joined(separator: ".")
      return switch RowCell(value) {
      case .null, .object: nil
      case .text(let text): "\(name): \(text)"
      case .longText(let length): "\(name): text of \(length) characters"
      case .bytes: "\(name): bytes"
      }
    }
    self = parts.isEmpty ? .null : .text(parts.joined(separator: ", "))
  }
}

extension JSONText {
  mutating func value(_ cell: RowCell) {
    switch cell {
    case .null: null()
    case .text(let text): value(text)
    case .longText(let length): object { $0.field("length", length) }
    case .bytes(let count): object { $0.field("bytes", count) }
    case .object(let id, let name):
      object { json in
        json.field("entity", id.entityName)
        json.field("key", id.keyText)
        json.field("name", name)
      }
    }
  }
}
