extension MigrationLoss {
  init(_ kind: ParkedSlot.Kind, entity: String, property: String) {
    let what =
      switch kind {
      case .object: "objects"
      case .attribute: "values"
      case .relationship: "pairs"
      }
    self.init(entity: entity, property: property.isEmpty ? nil : property, what: what)
  }

  func counting(_ rows: Int) -> MigrationLoss {
    var loss = self
    loss.rows = rows
    return loss
  }
}
