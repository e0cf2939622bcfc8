/// The part of an attribute's column that decides which values the row of an unsaved object may contain.
struct DraftColumn: Sendable {
  /// ``SlotForm/none`` for a property whose values are never in such a row.
  let form: SlotForm
  /// The integers that the column can hold.
  let range: ClosedRange<Int64>

  init(_ property: Property) {
    guard let attribute = property.attribute, !attribute.isTransient else {
      (form, range) = (.none, 0...0)
      return
    }
    let form = SlotForm(attribute)
    self.form = form.isDraftable ? form : .none
    range = attribute.type.integerRange
  }
}
