// Validation against the schemas in configs/schema.
#pragma once

#include <fstream>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "common/document.hpp"

namespace reduce_bench {

using PlainJson = nlohmann::json;  // the adapter takes no other
using valijson::adapters::NlohmannJsonAdapter;

class PublishedSchema {
 public:
  explicit PublishedSchema(const std::string& name) {
    std::ifstream stream(SOURCE_DIR "/configs/schema/" + name);
    const PlainJson text = PlainJson::parse(stream);
    const NlohmannJsonAdapter adapter(text);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(adapter, schema_);
  }
  /// Why the document is not valid; empty where it is.
  std::string complaint(const Json& document) const {
    const PlainJson plain = PlainJson::parse(document.dump());
    const NlohmannJsonAdapter adapter(plain);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(schema_, adapter, &results)) return {};
    std::string text;
    for (valijson::ValidationResults::Error error; results.popError(error);) {
      for (const std::string& step : error.context) text += step;
      text += ": " + error.description + "\n";
    }
    return text;
  }

 private:
  valijson::Schema schema_;
};

}  // namespace reduce_bench
