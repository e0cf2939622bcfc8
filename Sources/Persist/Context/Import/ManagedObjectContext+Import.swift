public import Foundation

/// Creation and update of objects from JSON or dictionaries, like MagicalRecord's import.
///
/// The model's user info maps data keys to properties, and names the attributes that identify objects:
///
/// - `mappedKeyName`, then `mappedKeyName.1` to `.9`, of an attribute or a relationship: its key in the data, if that
///   isn't its name; the first one present is used. `outer.inner` addresses nested data.
/// - `relatedByAttribute` of an entity or a relationship: the attribute that identifies its objects or its
///   destination's.
/// - `dateFormat` of a date attribute: the format of dates, such as `yyyy-MM-dd HH:mm`, or `UnixTime` for milliseconds
///   since 1970. Numbers for an attribute without `UnixTime` are seconds.
///
/// In addition to the values that ``ManagedObject/setValue(_:forKey:)`` accepts, text is converted to numbers, Booleans
/// (`true`, `yes`, `t`, `y`, `1` and their opposites), dates, UUIDs and base64 data, and numbers are converted to text.
/// The entire text must be the value, and a number that an attribute can't represent without losing digits is rejected:
/// 1.9 isn't an integer, and 9007199254740993 isn't a double.
///
/// An object with a known identifying value is updated, otherwise one is created; data that contain the value several
/// times, at any depth, result in one object. By default the identifying attribute is `<entity>ID`, or that of a
/// uniqueness constraint with a single attribute. The data of a relationship contains nested objects, or only
/// identifying values; to-many relationships gain members and lose none, except that null removes all.
///
/// The existing objects are looked up before anything is imported, with a single request for each attribute that
/// identifies some of them.
///
/// ```swift
/// let items = try context.importObjects("Item", fromJSON: data)      // [{"id": 7, "title": "Tea"}, …]
/// try context.save()
/// ```
extension ManagedObjectContext {
  /// Imports an object from a dictionary.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``, ``PersistenceError/Code/typeMismatch`` for a value that can't
  ///   be converted to its attribute. Objects imported before that remain in the context, unsaved.
  @discardableResult
  public func importObject(_ entityName: String, from data: [String: Any?]) throws -> ManagedObject {
    let entity = try entity(named: entityName)
    let objects = try ImportPass(context: self).objects(entity, from: [ImportValue(data, key: entityName)])
    guard let object = objects.first else { preconditionFailure("An import creates an object for each dictionary.") }
    return object
  }

  /// Imports an object for each dictionary, in order. Dictionaries with the same identifying value result in one
  /// object.
  @discardableResult
  public func importObjects(_ entityName: String, from list: [[String: Any?]]) throws -> [ManagedObject] {
    let entity = try entity(named: entityName)
    let values = try list.enumerated().map { try ImportValue($1, key: "\(entityName)[\($0)]") }
    return try ImportPass(context: self).objects(entity, from: values)
  }

  /// Imports an object for each object in JSON text that contains an array of objects or a single one.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` if the text isn't such JSON,
  ///   ``PersistenceError/Code/limitExceeded`` for a number with more than 38 digits, and the errors of
  ///   ``importObjects(_:from:)``.
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
  /// Sets the object's values from a dictionary; see ``ManagedObjectContext/importObject(_:from:)``. Properties that
  /// the dictionary doesn't contain are left unchanged.
  public final func importValues(from data: [String: Any?]) throws {
    guard let context = managedObjectContext else {
      throw PersistenceError(
        .foreignObject, at: .entity(entity.name), "The object belongs to no context.", fix: "Insert it into one first.")
    }
    try ImportPass(context: context).fill(self, from: ImportValue(data, key: entity.name))
  }
}
