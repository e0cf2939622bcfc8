/// A group of changes undone together: events and inner groups, in order.
struct UndoGroup {
  var name = ""
  var parts: [Part] = []

  enum Part {
    case step(UndoStep)
    case group(UndoGroup)
  }

  var isEmpty: Bool { parts.isEmpty }

  /// The events of the group and its inner groups, in order.
  var steps: [UndoStep] {
    parts.flatMap { part in
      switch part {
      case .step(let step): [step]
      case .group(let group): group.steps
      }
    }
  }

  /// Returns the group without the changes of a context.
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
