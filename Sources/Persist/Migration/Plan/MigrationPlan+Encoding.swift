extension MigrationPlan: Encodable {
  private enum Key: String, CodingKey {
    case from, to, way, steps, losses, blockers, rows, bytes, extraBytes, hops, notes, parked, restored, unreadable
  }

  /// Encodes the format that the command line prints for `diff` and `plan`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(from, forKey: .from)
    try container.encode(to, forKey: .to)
    try container.encode(way, forKey: .way)
    try container.encode(steps, forKey: .steps)
    try container.encode(losses, forKey: .losses)
    try container.encode(blockers, forKey: .blockers)
    try container.encodeIfPresent(rows, forKey: .rows)
    try container.encodeIfPresent(bytes, forKey: .bytes)
    try container.encodeIfPresent(extraBytes, forKey: .extraBytes)
    if !hops.isEmpty { try container.encode(hops, forKey: .hops) }
    if !notes.isEmpty { try container.encode(notes, forKey: .notes) }
    if !parked.isEmpty { try container.encode(parked, forKey: .parked) }
    if !restored.isEmpty { try container.encode(restored, forKey: .restored) }
    if !unreadable.isEmpty { try container.encode(unreadable, forKey: .unreadable) }
  }
}

extension MigrationPlan.Step: Encodable {
  private enum Key: String, CodingKey {
    case operation, entity, property, newName, detail, way, losesData, sql, deferred
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(operation.kind.rawValue, forKey: .operation)
    try container.encode(operation.entity, forKey: .entity)
    try container.encodeIfPresent(operation.property, forKey: .property)
    try container.encodeIfPresent(operation.newName, forKey: .newName)
    try container.encodeIfPresent(operation.detail, forKey: .detail)
    try container.encode(operation.way, forKey: .way)
    try container.encode(operation.losesData, forKey: .losesData)
    try container.encode(sql, forKey: .sql)
    if !deferred.isEmpty { try container.encode(deferred, forKey: .deferred) }
  }
}

extension MigrationLoss: Encodable {
  private enum Key: String, CodingKey {
    case entity, property, what, rows
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(entity, forKey: .entity)
    try container.encodeIfPresent(property, forKey: .property)
    try container.encode(what, forKey: .what)
    try container.encodeIfPresent(rows, forKey: .rows)
  }
}

extension MigrationBlocker: Encodable {
  private enum Key: String, CodingKey {
    case entity, property, what, fix
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(entity, forKey: .entity)
    try container.encodeIfPresent(property, forKey: .property)
    try container.encode(what, forKey: .what)
    try container.encode(fix, forKey: .fix)
  }
}
