package import Foundation
import Persist

/// A request of the studio's page, without anything of the protocol that carries it.
package struct StudioRequest: Sendable {
  /// The work of a request.
  package enum Method: Sendable, Hashable {
    /// Reads.
    case get
    /// Reads with parameters in the body, or changes something.
    case post
  }

  /// Whether the request reads or may change something.
  package var method: Method
  /// The name of the requested resource, such as `rows`.
  package var resource: String
  /// The parameters after the name.
  package var parameters: [String: String]
  /// The content: JSON, or nothing.
  package var body: Data

  /// Creates a request.
  package init(_ method: Method, _ resource: String, parameters: [String: String] = [:], body: Data = Data()) {
    self.method = method
    self.resource = resource
    self.parameters = parameters
    self.body = body
  }
}

extension StudioRequest {
  /// - Throws: `PersistenceError.Code.invalidRequest` if the body isn't of this form.
  func decoded<Form: Decodable>(_ form: Form.Type) throws -> Form {
    do {
      return try JSONDecoder().decode(form, from: body)
    } catch {
      throw PersistenceError(.invalidRequest, "The request's content can't be understood.", fix: "Reload the page.")
    }
  }

  /// - Throws: `PersistenceError.Code.invalidRequest` if the parameter is missing.
  func parameter(_ name: String) throws -> String {
    guard let value = parameters[name] else {
      throw PersistenceError(.invalidRequest, "The parameter '\(name)' is missing.", fix: "Reload the page.")
    }
    return value
  }

  /// - Throws: `PersistenceError.Code.invalidRequest` if the parameter is missing or isn't a whole number.
  func number(_ name: String) throws -> Int64 {
    guard let value = Int64(try parameter(name)) else {
      throw PersistenceError(.invalidRequest, "The parameter '\(name)' isn't a whole number.", fix: "Reload the page.")
    }
    return value
  }
}
