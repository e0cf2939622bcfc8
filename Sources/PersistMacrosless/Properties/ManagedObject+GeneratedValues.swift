public import Persist

extension ManagedObject {
  /// Reads an attribute as a value of a user-defined type, for generated properties.
  ///
  /// - Parameters:
  ///   - slot: the slot of the attribute.
  ///   - standard: the model's default, used if the store has no value of the type.
  @inlinable
  public final func generatedValue<Value: StorableValue>(at slot: Int, default standard: StoredValue) -> Value {
    if let value = Value.value(of: self, at: slot) { return value }
    reportUnlessNull(at: slot, as: Value.self)
    if let value = Value(stored: standard) { return value }
    preconditionFailure("The model's default \(standard) isn't a \(Value.self).")
  }

  /// Sets an attribute to a value of a user-defined type, for generated properties.
  @inlinable
  public final func setGeneratedValue<Value: StorableValue>(_ value: Value, at slot: Int) {
    Value.setValue(value, of: self, at: slot)
  }
}
