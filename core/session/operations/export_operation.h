#pragma once

#include <optional>
#include <string>
#include <vector>
#include "interchange/exports.h"
#include "session/operations/option.h"

namespace fusescope {

/// The file that a plan is exported to.
struct ExportSettings {
  std::string format;         ///< of exporters()
  std::string output;         ///< empty: standard output
  ExporterValues own;         ///< options of the formats
  std::optional<double> rms;  ///< nothing: that of the session, else the usual one
  bool check = false;         ///< the numbers are checked, also on random inputs

  std::vector<Option> options();
};

/// Adds an option for each that at least one of `exporters` has; its value is kept in `values` under its name.
void addExporterOptions(const std::vector<const Exporter*>& exporters, ExporterValues& values,
                        std::vector<Option>& options);

}  // namespace fusescope
