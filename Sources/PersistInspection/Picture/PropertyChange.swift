import Persist

/// The combined operations of a plan on one property, index or constraint.
struct PropertyChange {
  private(set) var change = ModelPicture.Change.changed
  private(set) var notes: [String] = []
  /// The name in the old model, if it was renamed.
  private(set) var oldName: String?

  mutating func add(_ operation: MigrationOperation) {
    switch operation.kind {
    case .addAttribute, .addRelationship, .addIndex, .addUniquenessConstraint: appear(.added)
    case .removeAttribute, .removeRelationship, .removeIndex, .removeUniquenessConstraint: appear(.removed)
    case .renameAttribute, .renameRelationship:
      oldName = operation.property
      notes.append("was \(operation.property ?? "")")
    default: notes.append(operation.pictureNote)
    }
    if operation.way == .impossible { notes.append("not possible without help") }
  }

  /// Records an addition or removal. If something of the same name is both removed and added, it is a replacement.
  private mutating func appear(_ kind: ModelPicture.Change) {
    if change == .changed, notes.isEmpty { change = kind } else {
      change = .changed
      notes.append("replaced")
    }
  }

  /// The changes of the properties by entity and new name; those of the entity itself have the empty name.
  static func byEntity(_ operations: [MigrationOperation]) -> [String: [String: PropertyChange]] {
    var changes: [String: [String: PropertyChange]] = [:]
    for operation in operations where !operation.entity.isEmpty {
      let isOfEntity = operation.property == nil
      let entity = isOfEntity ? operation.newName ?? operation.entity : operation.entity
      let name = isOfEntity ? "" : operation.newName ?? operation.property ?? ""
      changes[entity, default: [:]][name, default: PropertyChange()].add(operation)
    }
    return changes
  }
}

extension MigrationOperation {
  /// A short description of the change, shown under the name of what changes.
  fileprivate var pictureNote: String {
    let detail = detail ?? ""
    return switch kind {
    case .renameEntity: "was \(entity)"
    case .changeParent: "parent: \(detail)"
    case .changeAbstract, .changeAttributeType, .changeElements, .changeDestination: detail
    case .moveAttribute, .moveRelationship: "moved \(detail)"
    case .makeAttributeRequired, .makeRelationshipRequired: detail.isEmpty ? "now required" : "now required; \(detail)"
    case .makeAttributeOptional, .makeRelationshipOptional: "now optional"
    case .makeAttributeTransient: "no longer stored"
    case .makeAttributePersistent: "now stored"
    case .changeExternalStorage: "external storage \(detail)"
    case .changeDerivation: detail == "no longer derived" ? detail : "derived: \(detail)"
    case .changeDefault: "another default"
    case .changeTransformer: "transformer: \(detail)"
    case .changeInverse: "inverse: \(detail)"
    case .makeToMany: "now to many"
    case .makeToOne: "now to one"
    case .makeOrdered: "now ordered"
    case .makeUnordered: "no longer ordered"
    case .changeIndex: "other elements"
    case .changeRules: "other rules"
    default: [kind.rawValue.camelCaseWords, detail].filter { !$0.isEmpty }.joined(separator: " ")
    }
  }
}
