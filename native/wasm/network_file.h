// A network as evaluators/kernel/network_file.py packs it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/winograd.h"

namespace goryu {

struct NetworkFile {
    std::unique_ptr<WinogradNetwork> network;
    std::unique_ptr<Format> format;
    bool reads_planes = false;
    bool sees_nyugyoku = false;
    std::vector<std::pair<std::string, double>> options;  // Those that suit the network.
};

// Reads a file. Returns why it cannot, or an empty text.
std::string read_network_file(std::span<const std::byte> bytes, NetworkFile& file);

}  // namespace goryu
