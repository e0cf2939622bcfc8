extension MigrationLoss {
  init(_ kind: ParkedSlot.Kind, entity: String, property: String) {
    self.init(entity: entity, property: property.isEmpty ? nil : property, what: kind.contents.rawValue)
  }

  func counting(_ rows: Int) -> MigrationLoss {
    var loss = self
    loss.rows = rows
    return loss
  }
}

extension ParkedSlot.Kind {
  /// The contents of a slot of the kind.
  package var contents: ParkedContent.Kind {
    switch self {
    case .object: .objects
    case .attribute: .values
    case .relationship: .pairs
    }
  }
}

extension ParkedSlot {
  /// The path from an object to the values; nil for objects.
  package var keyPath: String? { property.isEmpty ? nil : ([property] + path).joined(separator: ".") }
}
