extension Int64 {
  /// The sum, or the nearest number if the sum is out of range.
  package func saturatingAdding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return !overflow ? sum : other < 0 ? .min : .max
  }
}
