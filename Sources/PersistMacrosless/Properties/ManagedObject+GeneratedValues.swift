public import Persist

extension ManagedObject {
  /// Reads an attribute as a value of one's own type, for generated properties.
  ///
  /// - Parameter standard: the model's default, for what the store has no value of the type for.
  @inlinable
  public final func generatedValue<Value: StorableValue>(at slot: Int, default standard: StoredValue) -> Value {
    if let value = Value.value(of: self, at: slot) ?? Value(stored: standard) { return value }
    preconditionFailure("The model's default \(standard) isn't a \(Value.self).")
  }
}
