extension MigrationLoss {
  init(_ kind: ParkedSlot.Kind, entity: String, property: String) {
    self.init(entity: entity, property: property.isEmpty ? nil : property, what: kind.contents)
  }

  func counting(_ rows: Int) -> MigrationLoss {
    var loss = self
    loss.rows = rows
    return loss
  }
}

extension ParkedSlot.Kind {
  /// The word for what a slot of the kind contains.
  var contents: String {
    switch self {
    case .object: "objects"
    case .attribute: "values"
    case .relationship: "pairs"
    }
  }
}

extension ParkedSlot {
  /// The path from an object to the values; nil for objects.
  var keyPath: String? { property.isEmpty ? nil : ([property] + path).joined(separator: ".") }
}
