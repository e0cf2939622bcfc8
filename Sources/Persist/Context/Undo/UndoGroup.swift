/// What is undone at once: events and inner groups, in their order.
struct UndoGroup {
  var name = ""
  var parts: [Part] = []

  enum Part {
    case step(UndoStep)
    case group(UndoGroup)
  }

  var isEmpty: Bool { parts.isEmpty }

  /// The events of the group and its inner groups, in their order.
  var steps: [UndoStep] {
    parts.flatMap { part in
      switch part {
      case .step(let step): [step]
      case .group(let group): group.steps
      }
    }
  }

  /// The group without what was changed in a context.
  func without(_ context: ManagedObjectContext) -> UndoGroup {
    var rest = self
    rest.parts = parts.compactMap { part in
      switch part {
      case .step(let step): return step.context === context ? nil : part
      case .group(let group):
        let inner = group.without(context)
        return inner.isEmpty ? nil : .group(inner)
      }
    }
    return rest
  }
}
