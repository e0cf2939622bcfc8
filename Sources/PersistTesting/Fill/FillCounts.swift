import Persist

/// The numbers of objects in each slice: those requested of each entity, and as many more of others as their required
/// relationships need, such as a receipt for each kind of payment.
struct FillCounts {
  private let pairs: [RelationshipPair]
  /// The requested total of each entity by its index; 0 for abstract ones.
  private let totals: [Int]
  /// Whether the total of an entity was requested by its name, so that it isn't exceeded.
  private let isFixed: [Bool]
  /// The numbers of objects in the slices so far.
  private(set) var used: [Int]
  /// The rounds in which relationships that need each other's objects are balanced.
  private static let roundLimit = 64

  /// - Parameter chosen: The numbers of objects of entities by name, instead of `rows`.
  /// - Throws: `PersistenceError.Code.unknownEntity` and `invalidRequest` for names and numbers that can't be.
  init(_ model: ManagedObjectModel, rows: Int, chosen: [String: Int]) throws {
    for (name, count) in chosen.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entitiesByName[name] else {
        throw PersistenceError(
          .unknownEntity, at: .entity(name), "The model has no entity '\(name)'.",
          fix: "The entities are \(model.entities.map(\.name).sorted().joined(separator: ", ")).")
      }
      guard !entity.isAbstract, (0...FillPass.rowLimit).contains(count) else {
        throw PersistenceError(
          .invalidRequest, at: .entity(name), "A store can't be filled with \(count) objects of '\(name)'.",
          fix: entity.isAbstract
            ? "It is abstract: name its subentities." : "The number has to be between 0 and \(FillPass.rowLimit).")
      }
    }
    pairs = RelationshipPair.pairs(of: model)
    totals = model.entities.map { $0.isAbstract ? 0 : chosen[$0.name] ?? rows }
    isFixed = model.entities.map { chosen[$0.name] != nil }
    used = Array(repeating: 0, count: totals.count)
  }

  /// The number of slices of about a size. Since objects are related within a slice only, each slice has some objects
  /// of every entity.
  func sliceCount(ofSize size: Int) -> Int {
    let most = ((totals.max() ?? 0) + size - 1) / size
    let fixed = zip(totals, isFixed).filter { $1 && $0 > 0 }.map { max(1, $0.0 / 16) }
    return max(1, min(most, fixed.min() ?? most))
  }

  /// The numbers of objects in the next slice, by entity index.
  mutating func next(slice number: Int, of sliceCount: Int) -> [Int] {
    var counts = totals.indices.map { index in
      let end = totals[index] * (number + 1) / sliceCount
      return isFixed[index] ? max(0, end - used[index]) : end - totals[index] * number / sliceCount
    }
    balance(&counts)
    for index in counts.indices { used[index] += counts[index] }
    return counts
  }

  private func balance(_ counts: inout [Int]) {
    // Relationships that need more objects of their own entity, directly or through others, have no solution.
    let limit = (counts.reduce(0, +) + 16) * 16
    for _ in 0..<Self.roundLimit {
      var isBalanced = true
      for pair in pairs {
        for (side, missing) in shortages(pair, counts) where raise(side, by: missing, &counts) { isBalanced = false }
      }
      if isBalanced || counts.reduce(0, +) > limit { return }
    }
  }

  private func raise(_ side: RelationshipPair.Side, by missing: Int, _ counts: inout [Int]) -> Bool {
    var rest = missing
    for entity in side.entities where rest > 0 {
      let room = isFixed[entity] ? max(0, totals[entity] - used[entity] - counts[entity]) : rest
      counts[entity] += min(rest, room)
      rest -= min(rest, room)
    }
    return rest < missing
  }

  /// The sides of a relationship that have too few objects for the required one of the other side.
  private func shortages(
    _ pair: RelationshipPair, _ counts: [Int]
  ) -> [(side: RelationshipPair.Side, missing: Int)] {
    let near = pair.near.entities.reduce(0) { $0 + counts[$1] }
    let far = pair.far.entities.reduce(0) { $0 + counts[$1] }
    var shortages: [(RelationshipPair.Side, Int)] = []
    switch (pair.near.isToMany, pair.far.isToMany) {
    case (false, false) where pair.isOwnInverse:
      if pair.near.isRequired, near % 2 == 1 { shortages.append((pair.near, 1)) }
    case (false, false):
      if pair.near.isRequired, near > far { shortages.append((pair.far, near - far)) }
      if pair.far.isRequired, far > near { shortages.append((pair.near, far - near)) }
    case (false, true):
      if pair.far.isRequired, far * pair.far.minimum > near {
        shortages.append((pair.near, far * pair.far.minimum - near))
      }
      if pair.near.isRequired, near > 0 {
        let needed = pair.farLimit == .max ? 1 : (near + pair.farLimit - 1) / pair.farLimit
        if needed > far { shortages.append((pair.far, needed - far)) }
      }
    case (true, _):
      if pair.near.isRequired, near > 0, pair.near.minimum > far {
        shortages.append((pair.far, pair.near.minimum - far))
      }
      if pair.far.isRequired, far > 0, pair.far.minimum > near {
        shortages.append((pair.near, pair.far.minimum - near))
      }
    }
    return shortages
  }
}
