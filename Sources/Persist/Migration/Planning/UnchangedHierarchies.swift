/// The hierarchies of entities whose rows and columns a migration leaves as they are, judging by the models: nothing is
/// declared differently in them, nor in the hierarchies to which they have relationships.
///
/// Their tables need no plan if the store has them as predicted.
struct UnchangedHierarchies {
  /// The names of their root entities.
  private let roots: Set<String>

  /// No hierarchies.
  init() { roots = [] }

  init(_ comparison: ModelComparison, from old: TableMap, to new: TableMap) {
    var changed: Set<String> = []
    var continued: Set<String> = []
    for entity in comparison.new.entities {
      let source = comparison.source(of: entity)
      if let source { continued.insert(source.name) }
      if let source, comparison.isUnchanged(entity), old.numbers[source] == new.numbers[entity] { continue }
      changed.insert(entity.root.name)
      if let source { changed.insert(source.root.name) }
    }
    // Another entity may have the name of one that is removed.
    for entity in comparison.old.entities where !continued.contains(entity.name) { changed.insert(entity.root.name) }
    // The columns of a relationship also depend on its other end.
    var affected = changed
    for model in [comparison.old, comparison.new] {
      for entity in model.entities {
        for relationship in entity.description.relationships {
          let ends = [entity.root.name, model.destination(of: relationship).root.name]
          if !changed.isDisjoint(with: ends) { affected.formUnion(ends) }
        }
      }
    }
    roots = Set(comparison.new.entities.filter { $0.superentity == nil }.map(\.name)).subtracting(affected)
  }

  func contains(_ root: Entity) -> Bool { roots.contains(root.name) }
}
