package import Foundation
import Persist
import PersistInspection

/// The answer to a request of the studio's page.
package struct StudioAnswer: Sendable {
  /// The content of an answer.
  package enum Body: Sendable {
    /// All of the content.
    case data(Data)
    /// Content that is produced piece by piece: the closure returns the next piece, and nil at the end. The number of
    /// bytes is nil if it isn't known before.
    case pieces(count: Int?, next: @Sendable () async throws -> Data?)
  }

  /// The result, numbered as in HTTP.
  package var status: Int
  /// The media type of the content.
  package var contentType: String
  /// The name under which a browser stores the content instead of showing it; nil to show it.
  package var fileName: String?
  /// The content.
  package var body: Body

  init(status: Int = 200, contentType: String, fileName: String? = nil, body: Body) {
    self.status = status
    self.contentType = contentType
    self.fileName = fileName
    self.body = body
  }
}

extension StudioAnswer {
  /// An answer with a JSON object.
  static func json(status: Int = 200, _ write: (inout JSONText) throws -> Void) rethrows -> StudioAnswer {
    var json = JSONText()
    try json.object(write)
    return StudioAnswer(
      status: status, contentType: "application/json; charset=utf-8", body: .data(Data(json.bytes)))
  }

  /// The answer for a failed request: the page shows the message, the advice, and the place in a request line.
  ///
  /// - Parameter column: The position in the line that the user typed, from 0.
  static func failure(_ error: PersistenceError, status: Int? = nil, column: Int? = nil) -> StudioAnswer {
    json(status: status ?? error.httpStatus) { json in
      json.key("error")
      json.object { json in
        json.field("code", error.code.rawValue)
        json.field("name", error.code.name)
        json.field("message", error.fullMessage)
        json.field("fix", error.fix)
        json.field("entity", error.place.entity)
        json.field("property", error.place.property)
        json.field("row", error.place.row)
        json.field("column", column)
        json.field("errors", of: error.errors) { json, part in
          json.object {
            $0.field("message", part.fullMessage)
            $0.field("fix", part.fix)
            $0.field("entity", part.place.entity)
            $0.field("property", part.place.property)
            $0.field("row", part.place.row)
          }
        }
      }
    }
  }
}

extension PersistenceError {
  /// The table of error codes and results.
  fileprivate var httpStatus: Int {
    switch code {
    case .objectNotFound, .modelNotFound: 404
    case .invalidRequest, .invalidPredicate, .unknownEntity, .unknownProperty, .typeMismatch, .invalidIdentifier,
      .limitExceeded: 400
    case .mergeConflict, .constraintConflict, .validationDeleteDenied: 409
    case .validationRule, .validationMultiple, .validationMissingRequired, .validationTooFewObjects,
      .validationTooManyObjects, .validationNumberTooLarge, .validationNumberTooSmall, .validationDateTooLate,
      .validationDateTooSoon, .validationStringTooLong, .validationStringTooShort, .validationStringPattern: 422
    case .storeReadOnly: 403
    case .storeBusy, .interrupted: 503
    default: 500
    }
  }
}
