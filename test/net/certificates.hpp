// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster_options.hpp>
#include <cstdio>
#include <cstdlib>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string>

namespace sinter {

/// An authority made for a test, and certificates that it signs, in files of a folder.
class authority {
public:
    explicit authority(std::string folder, const std::string& name) : folder_(std::move(folder)), name_(name) {
        key_ = EVP_EC_gen("P-256");
        certificate_ = signed_by(name, key_, nullptr, key_);
        write(name_ + ".pem", [&](FILE* f) { return ::PEM_write_X509(f, certificate_); });
    }
    authority(const authority&) = delete;
    authority& operator=(const authority&) = delete;
    ~authority() {
        ::X509_free(certificate_);
        ::EVP_PKEY_free(key_);
    }
    /// The files of a new member.
    tls_files member(const std::string& name) const {
        EVP_PKEY* const key = EVP_EC_gen("P-256");
        X509* const c = signed_by(name, key, certificate_, key_);
        write(name + ".pem", [&](FILE* f) { return ::PEM_write_X509(f, c); });
        write(name + ".key", [&](FILE* f) {
            return ::PEM_write_PrivateKey(f, key, nullptr, nullptr, 0, nullptr, nullptr);
        });
        ::X509_free(c);
        ::EVP_PKEY_free(key);
        return {folder_ + "/" + name + ".pem", folder_ + "/" + name + ".key", folder_ + "/" + name_ + ".pem"};
    }

private:
    std::string folder_, name_;
    EVP_PKEY* key_;
    X509* certificate_;

    static X509* signed_by(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
        X509* const c = ::X509_new();
        ::X509_set_version(c, 2);
        ::ASN1_INTEGER_set(::X509_get_serialNumber(c), std::rand());
        ::X509_gmtime_adj(X509_getm_notBefore(c), -3600);
        ::X509_gmtime_adj(X509_getm_notAfter(c), 3600);
        ::X509_set_pubkey(c, key);
        ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(c), "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
        ::X509_set_issuer_name(c, ::X509_get_subject_name(issuer ? issuer : c));
        if (!issuer) {   // it may sign others
            X509_EXTENSION* const e =
                ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
            ::X509_add_ext(c, e, -1);
            ::X509_EXTENSION_free(e);
        }
        ::X509_sign(c, issuer_key, ::EVP_sha256());
        return c;
    }
    template <class Write>
    void write(const std::string& file, Write w) const {
        FILE* const f = std::fopen((folder_ + "/" + file).c_str(), "w");
        if (!f || w(f) != 1) std::abort();
        std::fclose(f);
    }
};

} // namespace sinter
