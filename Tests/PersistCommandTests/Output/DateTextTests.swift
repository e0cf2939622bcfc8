import Foundation
import Testing

@testable import PersistCommand
@testable import PersistInspection

@Suite("Dates as text")
struct DateTextTests {
  @Test(
    "A date or time that doesn't exist is refused",
    arguments: [
      "2024-02-31T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-04-31T12:00:00.5Z",
      "2024-01-01T23:59:60Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
    ])
  func impossible(_ text: String) {
    #expect(DateText.date(iso8601: text) == nil)
    #expect(HistoryStart(argument: text) == nil)
  }

  @Test(
    "A date reads back to the same value",
    arguments: [0, 0.25, 757_468_800, 788_918_399.000001, 725_846_400.5, -1, -978_307_200, -13_000_000_000])
  func roundTrip(_ seconds: Double) {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(DateText.date(iso8601: DateText.iso8601(date)) == date)
  }

  @Test("A text is exact if it reads back to the same value")
  func exact() {
    var (exact, inexact) = (0, 0)
    for number in 0..<2000 {
      let whole = Double(number - 1000) * 630_721
      for fraction: Double in [0, 0.5, 0.000001, 0.123457, 0.1234567, 0.999999, 0.9999999, 1 / 3] {
        let date = Date(timeIntervalSinceReferenceDate: whole + fraction)
        let text = DateText.exactISO8601(date)
        #expect((text != nil) == (DateText.date(iso8601: DateText.iso8601(date)) == date), "\(whole + fraction)")
        if text == nil { inexact += 1 } else { exact += 1 }
        let longer = DateText.exactText(date)
        #expect(text == nil || longer == text)
        let read = DateText.date(iso8601: longer) ?? Double(longer).map(Date.init(timeIntervalSinceReferenceDate:))
        #expect(read == date, "\(longer)")
      }
    }
    #expect(exact > 1000 && inexact > 1000)
    #expect(DateText.exactISO8601(.distantPast) == nil && DateText.exactISO8601(.distantFuture) != nil)
  }

  @Test("A history begins at a date or a moment, if it exists")
  func historyStart() throws {
    guard case .date(let leapDay)? = HistoryStart(argument: "2024-02-29") else {
      Issue.record("February 29, 2024 is refused.")
      return
    }
    #expect(DateText.iso8601(leapDay) == "2024-02-29T00:00:00Z")
    #expect(HistoryStart(argument: "2025-02-29") == nil)
    #expect(HistoryStart(argument: "2025-02-31") == nil)
    guard case .date(let moment)? = HistoryStart(argument: "2024-02-29 12:30:00.500") else {
      Issue.record("A moment without a zone is refused.")
      return
    }
    #expect(DateText.iso8601(moment) == "2024-02-29T12:30:00.500000Z")
  }
}
