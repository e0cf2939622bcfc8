public import Foundation

/// Making and changing objects from JSON or dictionaries, as MagicalRecord's import does.
///
/// Which key of the data belongs to which property, and by which attribute objects are told apart, stands in the user
/// info of the model:
///
/// - `mappedKeyName`, then `mappedKeyName.1` to `.9`, of an attribute or a relationship: its key in the data, where
///   that isn't its name; of several the first that is there. `outer.inner` reaches into nested data.
/// - `relatedByAttribute` of an entity or a relationship: the attribute that identifies its objects, or those that it
///   leads to.
/// - `dateFormat` of a date attribute: how dates are written, such as `yyyy-MM-dd HH:mm`, or `UnixTime` for
///   milliseconds since 1970. Numbers for an attribute without `UnixTime` are seconds.
///
/// Beside what ``ManagedObject/setValue(_:forKey:)`` takes, texts become numbers, truth values (`true`, `yes`, `t`,
/// `y`, `1` and their opposites), dates, UUIDs and data in base64, and numbers become texts. The whole text must be the
/// value, and a number that an attribute can't hold without losing digits is refused: 1.9 is no whole number, and
/// 9007199254740993 is no double.
///
/// An object whose identifying value is known already is changed, another one is made. Without a word on it the
/// identifying attribute is `<entity>ID`, or that of a uniqueness constraint of one attribute. Data of a relationship
/// are nested objects, or identifying values alone; to-many relationships gain members and lose none, but for null,
/// which empties them.
///
/// ```swift
/// let items = try context.importObjects("Item", fromJSON: data)      // [{"id": 7, "title": "Tea"}, …]
/// try context.save()
/// ```
extension ManagedObjectContext {
  /// An object with what a dictionary says.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``, ``PersistenceError/Code/typeMismatch`` for a value that an
  ///   attribute can't be made of. What was imported before that stays in the context, unsaved.
  @discardableResult
  public func importObject(_ entityName: String, from data: [String: Any?]) throws -> ManagedObject {
    let entity = try entity(named: entityName)
    let objects = try ImportPass(context: self).objects(entity, from: [ImportValue(data, key: entityName)])
    guard let object = objects.first else { preconditionFailure("An import gives an object for each dictionary.") }
    return object
  }

  /// An object for each dictionary, in their order. Dictionaries with one identifying value give one object.
  @discardableResult
  public func importObjects(_ entityName: String, from list: [[String: Any?]]) throws -> [ManagedObject] {
    let entity = try entity(named: entityName)
    let values = try list.enumerated().map { try ImportValue($1, key: "\(entityName)[\($0)]") }
    return try ImportPass(context: self).objects(entity, from: values)
  }

  /// An object for each object of a JSON text, which holds a list of them or a single one.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` where the text isn't such JSON,
  ///   ``PersistenceError/Code/limitExceeded`` for a number of more than 38 digits, and as ``importObjects(_:from:)``.
  @discardableResult
  public func importObjects(_ entityName: String, fromJSON data: Data) throws -> [ManagedObject] {
    let entity = try entity(named: entityName)
    switch ImportValue(try JSONReader.value(in: data, keepingDigits: true)) {
    case .list(let values): return try ImportPass(context: self).objects(entity, from: values)
    case let value: return try ImportPass(context: self).objects(entity, from: [value])
    }
  }
}

extension ManagedObject {
  /// Gives the object what a dictionary says; see ``ManagedObjectContext/importObject(_:from:)``. Properties that the
  /// dictionary doesn't name stay as they are.
  public final func importValues(from data: [String: Any?]) throws {
    guard let context = managedObjectContext else {
      throw PersistenceError(
        .foreignObject, at: .entity(entity.name), "The object belongs to no context.", fix: "Insert it into one first.")
    }
    try ImportPass(context: context).fill(self, from: ImportValue(data, key: entity.name))
  }
}
