import Persist

/// The parts of one stored value that today's type of the property can't read, collected while the value is decoded.
///
/// Each of them reads as its default. The other parts aren't affected.
final class UnreadableParts {
  private(set) var parts: [UnreadablePart] = []

  func record(_ path: [String], _ value: StoredValue, as type: Any.Type) {
    parts.append(UnreadablePart(path: path, value: value, type: type))
  }
}

/// Reads the parts of stored values of types that are known at run time only.
enum PartReader {
  /// Returns a part; nil for none, or if the part can't be read, which is recorded then.
  ///
  /// - Parameters:
  ///   - path: the names that lead to the part.
  ///   - standard: returns the part's default, whose members replace missing ones of a JSON text.
  static func value<Part>(
    of type: Part.Type, in stored: StoredValue, at path: [String], standard: @escaping () -> StoredValue?,
    recordingIn unreadable: UnreadableParts
  ) -> Part? {
    guard !stored.isNull, let storable = (type as? any StorableValue.Type)?.wrappedType else { return nil }
    let value: Any?
    if let composite = storable as? any CompositeValue.Type {
      value = composite.read(stored, at: path, standard: standard, recordingIn: unreadable)
    } else if let json = storable as? any JSONValue.Type {
      value = json.read(stored, at: path, standard: standard, recordingIn: unreadable)
    } else {
      value = storable.init(stored: stored)
    }
    // Without a value, the cast to an optional type would succeed.
    if let value, let part = value as? Part { return part }
    unreadable.record(path, stored, as: storable)
    return nil
  }

  /// Returns the stored form of a new value, with everything that an older stored value contains beyond what the
  /// program could read in it.
  ///
  /// - Parameters:
  ///   - value: the new value.
  ///   - current: the older stored value.
  ///   - base: the stored form of what the program read from `current`.
  /// - Returns: the difference between `value` and `base`, applied to `current`.
  static func stored(
    _ value: any StorableValue, over current: StoredValue, readAs base: StoredValue
  ) -> StoredValue {
    if let composite = value as? any CompositeValue {
      return CompositeEncoder.parts(of: composite, over: current, readAs: base)
    }
    let new = value.stored
    if new == base { return current }
    if let json = value as? any JSONValue { return type(of: json).merged(new, over: current, readAs: base) }
    return new
  }
}
