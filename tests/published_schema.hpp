// Validation against the schemas in configs/schema.
#pragma once

#include <memory>
#include <string>

#include "common/document.hpp"

namespace reduce_bench {

class PublishedSchema {
 public:
  /// The file's name in configs/schema.
  explicit PublishedSchema(const std::string& name);
  ~PublishedSchema();
  /// Why the document is not valid; empty where it is.
  std::string complaint(const Json& document) const;

 private:
  struct Validator;  // the library's headers are long, so one file alone includes them
  std::unique_ptr<const Validator> validator_;
};

}  // namespace reduce_bench
