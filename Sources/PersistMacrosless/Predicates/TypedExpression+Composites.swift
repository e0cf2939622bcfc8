import Persist

/// Parts of composite attributes.
extension TypedExpression where Value: CompositeValue {
  /// A part of the composite value.
  ///
  /// Traps if the part can't be identified, for example because its type treats all values as equal.
  public subscript<Part>(
    dynamicMember keyPath: any KeyPath<Value, Part> & Sendable
  ) -> TypedExpression<Root, Part> {
    TypedExpression<Root, Part>(.path(of: expression, [CompositeParts.name(of: keyPath)]))
  }

  /// An optional part of the composite value.
  public subscript<Part>(
    dynamicMember keyPath: any KeyPath<Value, Part?> & Sendable
  ) -> TypedExpression<Root, Part> {
    TypedExpression<Root, Part>(.path(of: expression, [CompositeParts.name(of: keyPath)]))
  }
}
