import Foundation
import Persist
import PersistInspection

/// Makes the user's changes in a context. Not Sendable, as its context: ``EditingSession`` holds it behind a lock.
final class Editor {
  /// The unsaved changes, as values.
  struct Changes: Sendable {
    enum Status: String, Sendable {
      case inserted, updated, deleted
    }

    struct Value: Sendable {
      let property: String
      let was: String?
      /// The new value as the user can type it; for a relationship, its members in words.
      let text: String?
      /// Whether the text is only a part or a description of the value, so that it can't be edited.
      let isCut: Bool
      /// The members of a relationship; nil for attributes and for too many members.
      var members: [Member]?
    }

    struct Member: Sendable {
      let reference: EditForm.Reference
      let name: String?
    }

    struct Object: Sendable {
      let reference: EditForm.Reference
      let status: Status
      let name: String?
      let values: [Value]
    }

    let canUndo: Bool
    let canRedo: Bool
    let objects: [Object]
  }

  let context: ManagedObjectContext
  private let storeIdentifier: String
  /// New objects by the number that identifies them until they are saved.
  private var temporaries: [UInt64: ManagedObject] = [:]

  init(_ context: ManagedObjectContext, storeIdentifier: String) {
    self.context = context
    self.storeIdentifier = storeIdentifier
    context.undoManager = ManagedObjectContext.UndoManager()
    context.transactionAuthor = "persist studio"
  }

  /// Makes a change.
  ///
  /// - Returns: The object that the change created; otherwise nil.
  func apply(_ form: EditForm) throws -> EditForm.Reference? {
    var created: ManagedObject?
    switch form.action {
    case .check: try check(form)
    case .set: try set(form)
    case .relate: try relate(form)
    case .insert:
      guard let entity = form.entity else { throw Self.incomplete }
      created = try context.create(entity)
    case .duplicate: created = try duplicate(object(form.object))
    case .delete: context.delete(try object(form.object))
    case .undo: context.undo()
    case .redo: context.redo()
    case .discard: context.rollback()
    case .save: try save(form.resolution)
    }
    context.processPendingChanges()
    return created.map(reference)
  }

  private static let incomplete = PersistenceError(
    .invalidRequest, "The change is incomplete.", fix: "Reload the page.")

  /// The object, with the newest values of its row unless it has unsaved changes.
  ///
  /// The undo history keeps objects registered after a save. A change that is compared with an old row may be none, and
  /// would be lost without a word. Unsaved changes keep their row: with it, a save notices conflicts.
  func object(_ reference: EditForm.Reference?) throws -> ManagedObject {
    guard let reference else { throw Self.incomplete }
    if let number = reference.temporary, let object = temporaries[number] { return object }
    guard let key = reference.key?.value else { throw Self.incomplete }
    let id = ManagedObjectID(entityName: reference.entity, storeIdentifier: storeIdentifier, key: .permanent(key))
    if let known = context.registeredObject(for: id), !known.hasChanges { context.refresh(known, mergeChanges: false) }
    return try context.existingObject(with: id)
  }

  private func reference(_ object: ManagedObject) -> EditForm.Reference {
    guard case .temporary(let number) = object.objectID.key else {
      let key = object.objectID.primaryKey.map { ObjectKey(value: $0) }
      return EditForm.Reference(entity: object.entity.name, key: key)
    }
    temporaries[number] = object
    return EditForm.Reference(entity: object.entity.name, temporary: number)
  }

  // MARK: Values

  private func typed(_ form: EditForm) throws -> (object: ManagedObject, property: String, value: Any?) {
    let object = try object(form.object)
    guard let name = form.property, let attribute = object.entity.attribute(named: name) else { throw Self.incomplete }
    let place = PersistenceError.Place.property(object.entity.name, name)
    guard !attribute.isDerived else {
      throw PersistenceError(.invalidRequest, at: place, "'\(name)' is derived from other values.")
    }
    return (object, name, try TypedText.value(form.text, as: attribute.type, at: place))
  }

  private func check(_ form: EditForm) throws {
    let (object, property, value) = try typed(form)
    try object.validateValue(value, forKey: property)
  }

  private func set(_ form: EditForm) throws {
    let (object, property, value) = try typed(form)
    try object.setValue(value, forKey: property)
  }

  private func relate(_ form: EditForm) throws {
    let object = try object(form.object)
    guard let name = form.property, let relationship = object.entity.relationship(named: name) else {
      throw Self.incomplete
    }
    if relationship.isToMany, form.targets == nil { return try changeMembers(of: object, relationship, form) }
    let targets = try (form.targets ?? []).map { try self.object($0) }
    if relationship.isToMany {
      try object.setValue(relationship.isOrdered ? targets : Set(targets), forKey: name)
    } else {
      try object.setValue(targets.first, forKey: name)
    }
  }

  /// Adds and removes members, and keeps those that another page has added.
  private func changeMembers(
    of object: ManagedObject, _ relationship: RelationshipDescription, _ form: EditForm
  ) throws {
    let destination = try context.entity(named: relationship.destination)
    let added = try (form.added ?? []).map { try self.object($0) }
    guard added.allSatisfy({ $0.entity.isKind(of: destination) }) else { throw Self.incomplete }
    // An object that was deleted meanwhile is no longer a member.
    let removed = (form.removed ?? []).compactMap { try? self.object($0) }
    let members = try object.related(relationship.name)
    members.remove(contentsOf: removed)
    members.insert(contentsOf: added)
  }

  /// Copies the attributes, and the relationships that the copied object doesn't have to give up.
  private func duplicate(_ object: ManagedObject) throws -> ManagedObject {
    let copy = try context.create(object.entity.name)
    for property in object.entity.properties where !property.isTransient {
      if let attribute = property.attribute {
        guard !attribute.isDerived else { continue }
        try copy.setValue(try object.value(forKey: property.name), forKey: property.name)
      } else if let relationship = property.relationship {
        let inverse = context.persistentStoreCoordinator.managedObjectModel.inverse(of: relationship)
        guard !relationship.isToMany, inverse?.isToMany == true || relationship.inverse == nil else { continue }
        try copy.setValue(try object.value(forKey: property.name), forKey: property.name)
      }
    }
    return copy
  }

  // MARK: Saving

  private func save(_ resolution: EditForm.Resolution?) throws {
    context.mergePolicy =
      switch resolution {
      case .mine?: .mergeByPropertyObjectTrump
      case .theirs?: .mergeByPropertyStoreTrump
      case nil: .error
      }
    try context.save()
    temporaries = [:]
  }

  /// The unsaved changes, by entity.
  func changes() throws -> Changes {
    let groups: [(Set<ManagedObject>, Changes.Status)] = [
      (context.insertedObjects, .inserted), (context.updatedObjects, .updated), (context.deletedObjects, .deleted),
    ]
    let objects = groups.flatMap { objects, status in
      objects.map { object in
        Changes.Object(
          reference: reference(object), status: status, name: name(of: object),
          values: status == .deleted ? [] : values(of: object, isNew: status == .inserted))
      }
    }
    let sorted = objects.sorted { left, right in
      (left.reference.entity, left.reference.key?.value ?? .max, left.reference.temporary ?? 0)
        < (right.reference.entity, right.reference.key?.value ?? .max, right.reference.temporary ?? 0)
    }
    return Changes(
      canUndo: context.undoManager?.canUndo ?? false, canRedo: context.undoManager?.canRedo ?? false, objects: sorted)
  }

  private func values(of object: ManagedObject, isNew: Bool) -> [Changes.Value] {
    let before = isNew ? [:] : object.committedValues()
    return object.changedValues().sorted { $0.key < $1.key }.compactMap { name, value in
      let property = object.entity.property(named: name)
      if isNew, property?.isToMany == true, (value as? any Collection)?.isEmpty == true { return nil }
      let (text, isCut) = typedText(value)
      return Changes.Value(
        property: name, was: before[name].flatMap { self.text($0) }.map { String($0.prefix(Self.shownText)) },
        text: text, isCut: isCut, members: property?.relationship == nil ? nil : members(value))
    }
  }

  /// The length of an earlier value, which is only shown.
  private static let shownText = 2000
  private static let longestText = 65536
  private static let longestBytes = 512

  /// A value as text from which nothing is missing, unless it is too long to be edited.
  private func typedText(_ value: Any?) -> (text: String?, isCut: Bool) {
    if let data = value as? Data {
      return data.count > Self.longestBytes ? (text(data), true) : (data.hexadecimalDigits, false)
    }
    guard let text = text(value) else { return (nil, false) }
    let shown = text.prefix(Self.longestText)
    return (String(shown), shown.endIndex != text.endIndex)
  }

  private static let shownMembers = 500

  private func members(_ value: Any?) -> [Changes.Member]? {
    func objects(_ collection: some Collection) -> [ManagedObject] { collection.compactMap { relatedObject($0) } }
    let found = (value as? any Collection).map { objects($0) } ?? [relatedObject(value)].compactMap { $0 }
    guard found.count <= Self.shownMembers else { return nil }
    return found.map(member)
  }

  func member(_ object: ManagedObject) -> Changes.Member {
    Changes.Member(reference: reference(object), name: name(of: object))
  }

  /// The object of a changed relationship, which may be given by its identifier.
  private func relatedObject(_ value: Any?) -> ManagedObject? {
    switch value {
    case let object as ManagedObject: object
    case let id as ManagedObjectID: context.object(with: id)
    default: nil
    }
  }

  private func name(of object: ManagedObject) -> String? {
    NamingAttribute.guess(for: object.entity).flatMap { object[$0] as? String }.map { String($0.prefix(80)) }
  }

  private func text(_ value: Any?) -> String? {
    switch value {
    case nil: nil
    case let text as String: text
    case let date as Date: DateText.exactText(date)
    case let data as Data: Measure.count(data.count, "byte")
    case is ManagedObject, is ManagedObjectID:
      relatedObject(value).map { object in
        name(of: object) ?? "\(object.entity.name) \(object.objectID.primaryKey.map(String.init) ?? "new")"
      }
    case let members as any Collection: Measure.count(members.count, "object")
    case let value?: String(describing: value)
    }
  }
}
