/// The effect of an attribute's type change on its values.
package enum AttributeConversion: Sendable, Equatable {
  /// The same bytes represent the same value.
  case same
  /// Every value has an equal one in the new type; the column gets the new type's affinity.
  case exact
  /// Exact for whole numbers in a range, which has to be checked first.
  case exactWithin(ClosedRange<Int64>)
  /// Some values have no equal in the new type.
  case refused

  /// The range of ``exactWithin(_:)``; nil for the others.
  var range: ClosedRange<Int64>? { if case .exactWithin(let range) = self { range } else { nil } }

  package init(from old: AttributeType, to new: AttributeType) {
    self = switch (old, new) {
    case _ where old == new: .same
    case (.boolean, .int16), (.boolean, .int32), (.boolean, .int64), (.int16, .int32), (.int16, .int64),
      (.int32, .int64): .same
    case (.string, .uri), (.uri, .string), (.binary, .transformable), (.transformable, .binary), (.float, .double):
      .same
    case (.int32, .int16), (.int64, .int16), (.int64, .int32): .exactWithin(new.integerRange)
    case (.int16, .boolean), (.int32, .boolean), (.int64, .boolean): .exactWithin(0...1)
    case (.int16, .float), (.int16, .double), (.int32, .double): .exact
    case (.int32, .float), (.int64, .float): .exactWithin(-(1 << 24)...(1 << 24))
    case (.int64, .double): .exactWithin(-(1 << 53)...(1 << 53))
    case (.int16, .decimal), (.int32, .decimal), (.int64, .decimal): .exact
    default: .refused
    }
  }
}
