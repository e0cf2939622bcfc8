extension AttributeType {
  /// The error for an integer outside of the type's range.
  ///
  /// - Parameter name: The attribute's name, or the path of a composite's element.
  package func outOfRange(
    _ number: Int64, _ name: String, at place: PersistenceError.Place
  ) -> PersistenceError {
    outOfRange("\(number)", isTooLarge: number > integerRange.upperBound, name, at: place)
  }

  /// The error for a computed number that isn't in the range of any integer type.
  package func outOfRange(
    _ number: Double, _ name: String, at place: PersistenceError.Place
  ) -> PersistenceError {
    outOfRange(ValueWords.number(number), isTooLarge: number > 0, name, at: place)
  }

  private func outOfRange(
    _ number: String, isTooLarge: Bool, _ name: String, at place: PersistenceError.Place
  ) -> PersistenceError {
    let range = integerRange
    return PersistenceError(
      isTooLarge ? .validationNumberTooLarge : .validationNumberTooSmall, at: place,
      "\(name) is \(number), which is out of the range of the type \(rawValue).",
      fix: "Give it a number from \(range.lowerBound) to \(range.upperBound), or give the attribute a larger type.")
  }
}
