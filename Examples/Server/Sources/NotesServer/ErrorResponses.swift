import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Notes
import Persist

/// Turns errors of the store into answers. The log gets all of an error, the client what is fit for clients.
struct ErrorResponses: RouterMiddleware {
  typealias Context = BasicRequestContext

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as PersistenceError {
      let status = error.status
      context.logger.log(level: status.kind == .serverError ? .error : .info, "\(error)")
      let message = status.kind == .serverError ? nil : error.localizedDescription
      throw HTTPError(status, headers: retryHeaders(status), message: message)
    } catch let error as VersionMismatch {
      throw HTTPError(
        .preconditionFailed, headers: [.eTag: "\"\(error.version)\""], message: "The note was changed meanwhile.")
    } catch is CancellationError {
      throw HTTPError(.serviceUnavailable, headers: retryHeaders(.serviceUnavailable))
    }
  }

  private func retryHeaders(_ status: HTTPResponse.Status) -> HTTPFields {
    status == .serviceUnavailable ? [.retryAfter: "1"] : [:]
  }
}

extension PersistenceError {
  /// The one table of error codes and HTTP status.
  var status: HTTPResponse.Status {
    switch code {
    case .objectNotFound: .notFound
    case .mergeConflict, .constraintConflict: .conflict
    case .validationRule, .validationMultiple, .validationMissingRequired, .validationTooFewObjects,
      .validationTooManyObjects, .validationNumberTooLarge, .validationNumberTooSmall, .validationDateTooLate,
      .validationDateTooSoon, .validationStringTooLong, .validationStringTooShort, .validationStringPattern:
      .unprocessableContent
    case .validationDeleteDenied: .conflict
    case .typeMismatch, .invalidRequest, .invalidPredicate, .unknownProperty, .invalidIdentifier: .badRequest
    case .limitExceeded: .contentTooLarge
    case .storeBusy, .interrupted: .serviceUnavailable
    case .diskFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    // A damaged or exchanged file, a model that doesn't fit, anything new: somebody has to look.
    default: .internalServerError
    }
  }
}
